from __future__ import annotations

from django.urls import path

from tunerweb.accounts.views import account, team, ways_in

app_name = "accounts"

urlpatterns = [
    path("setup/<str:token>/", ways_in.setup, name="setup"),
    path("enter/<str:token>/", ways_in.enter, name="enter"),
    path("invite/<str:token>/", ways_in.invite, name="invite"),
    path("login/", ways_in.sign_in, name="login"),
    path("logout/", ways_in.sign_out, name="logout"),
    path("account/", account.account, name="account"),
    path("account/password/", account.change_password, name="password"),
    path("account/sign-out-everywhere/", account.sign_out_everywhere, name="sign_out_everywhere"),
    path("account/tokens/", account.create_token, name="create_token"),
    path("account/tokens/<str:public_id>/revoke/", account.revoke_token, name="revoke_token"),
    path("team/", team.team, name="team"),
    path("team/<str:public_id>/invitations/", team.create_invitation, name="create_invitation"),
    path("team/members/<int:pk>/sign-in-link/", team.create_enter_link, name="create_enter_link"),
    path("team/invitations/<int:pk>/revoke/", team.revoke_invitation, name="revoke_invitation"),
]
